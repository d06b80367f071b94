import { el } from '../../core/dom.js';
import { sayProblem } from '../../core/text/text.js';
import { whileBusy } from './button.js';

/** A form with a save button that shows a spinner, and an error message above the fields. */
export function savingForm(save, { work, words = sayProblem }, ...content) {
  const fault = el('p.form-fault', { role: 'alert', hidden: true });
  const submit = (event) => {
    event.preventDefault();
    whileBusy(save, async () => {
      try {
        await work();
        fault.hidden = true;
      } catch (error) {
        // The user has cancelled the proof.
        fault.hidden = error.code === 'step_up_required';
        if (!fault.hidden) fault.textContent = words(error);
      }
    });
  };
  return el('form', { on: { submit } }, fault, content, save);
}
