// The frame of the pages before signing in: one column, errors above the fields, and a spinner in the icon.

import { el, refill } from '../../core/dom.js';
import { say, sayProblem } from '../../core/text/text.js';
import { button } from '../../parts/forms/button.js';

/** `work` runs when the form is sent. */
export function signInForm({ site, title, lead, above = [], controls, verb, work, problem, foot, isFirst = false, isWide = false, steps = null }) {
  const icon = siteIcon();
  const fault = el('p.form-fault', { role: 'alert', hidden: true });
  const submit = button(verb, { kind: 'primary', type: 'submit', wide: true });
  const setFault = (...words) => {
    fault.hidden = !words.length;
    refill(fault, words);
  };
  const tell = (error) => {
    const { contact_url: contact } = site.server;
    const asks = contact && error.code?.startsWith('account_');
    setFault(error.sentence ?? sayProblem(error), asks && el('a.sign-in-contact', { href: contact }, say('signIn.ask')));
  };
  if (problem) tell(problem);
  const form = el(
    'form',
    {
      novalidate: true,
      on: {
        submit: async (event) => {
          event.preventDefault();
          setFault();
          submit.disabled = true;
          const timer = setTimeout(() => icon.classList.add('turning'), 300);
          try {
            await work();
          } catch (error) {
            tell(error);
            const wrong =
              controls.find((it) => it.input && it.input.name === error.errors?.[0]?.field) ??
              controls.find((it) => it.input);
            wrong?.input.focus();
          } finally {
            clearTimeout(timer);
            icon.classList.remove('turning');
            submit.disabled = false;
          }
        },
      },
    },
    fault,
    controls,
    submit,
  );
  const node = el(
    'div.sign-in',
    { class: isFirst ? 'is-first' : '' },
    el(
      'div.sign-in-column',
      { class: isWide ? 'is-wide' : '' },
      icon,
      steps,
      el('h1', null, title),
      lead && el('p.sign-in-lead', null, lead),
      above,
      form,
      el('div.sign-in-foot', null, foot, siteLinks(site)),
    ),
  );
  return {
    title,
    isOutside: true,
    keepsFocus: true,
    node,
    shown: () => (form.querySelector('input') ?? submit).focus(),
    /** Shows an error above the fields. */
    tell,
    /** Shows a sentence in place of the form. */
    showNotice(heading, words, ...actions) {
      refill(node, noticeColumn(heading, words, actions));
      node.querySelector('h1').focus();
    },
  };
}

const siteIcon = () => el('img.sign-in-icon', { src: '/api/v1/icon', alt: '', width: 64, height: 64 });

function noticeColumn(title, words, actions) {
  return el(
    'div.sign-in-column',
    { role: 'status' },
    siteIcon(),
    el('h1', { tabindex: '-1' }, title),
    el('p.sign-in-lead', null, words),
    el('div.empty-actions', null, actions),
  );
}

/** A page with a sentence and no form. */
export const noticePage = (title, words, ...actions) => ({
  title,
  isOutside: true,
  node: el('div.sign-in', null, noticeColumn(title, words, actions)),
});

export const link = (href, words, kind = 'plain') => el(`a.button.button-${kind}`, { href }, words);

/** The links of the operator, if there are any. */
function siteLinks({ server }) {
  const links = [
    [server.privacy_url, 'signIn.privacy'],
    [server.contact_url, 'signIn.contact'],
  ].filter(([address]) => address);
  return links.length > 0 && el('p.sign-in-links', null, links.map(([address, words]) => el('a', { href: address }, say(words))));
}

/** An error with these words. */
export function sentence(words) {
  return Object.assign(new Error(words), { sentence: words });
}
