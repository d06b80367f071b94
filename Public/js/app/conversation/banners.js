// The banners above the messages: the welcome after sign-up, the first steps of an owner, a message request.

import { backOff, wait } from '../../parley/time.js';
import { el } from '../core/dom.js';
import { say, sayProblem } from '../core/text/text.js';
import { banner } from '../parts/navigation/banner.js';
import { toast } from '../parts/overlays/toast.js';

/** The banners of the conversation, in their order. */
export function banners(page) {
  const { shell, site, conversation } = page;
  const isRoom = conversation.kind === 'room';
  return [
    conversation.request && requestBanner(page),
    isRoom && shell.arrival && welcomeBanner(page),
    isRoom && site.me?.role === 'owner' && steps(page),
  ];
}

/** The first steps of an owner; empty until the remaining ones are known. The preference may come after the first run's last page. */
function steps({ shell, site, listen, signal }) {
  const node = el('section.steps-banner', { hidden: true, aria: { label: say('steps.title') } });
  let isOn = false;
  /** Retries until the steps are shown, or the page closes. */
  const show = async () => {
    for (let tries = 1; isOn && !signal.aborted; tries++) {
      try {
        const { firstSteps } = await import('../admin/firststeps.js');
        return await firstSteps(shell, node);
      } catch (error) {
        if (error.isTemporary === false) return undefined;
        await wait(error.retryAfter ?? backOff(tries), signal);
      }
    }
    return undefined;
  };
  const draw = () => {
    if (isOn === !!site.me?.preferences?.first_steps) return;
    isOn = !isOn;
    if (isOn) show();
    else node.hidden = true;
  };
  draw();
  listen(site, ['me'], draw);
  return node;
}

/** Once, after sign-up. */
function welcomeBanner(page) {
  const { arrival } = page.shell;
  page.shell.arrival = null;
  const node = el('div.welcome');
  import('./welcome.js').then(({ fillWelcome }) => fillWelcome(page, arrival, node)).catch(() => {});
  return node;
}

/** Until the request is accepted, here or on another device. */
function requestBanner(page) {
  const { shell, site, conversation } = page;
  const answer = (words, method) =>
    el(
      'button.text-button',
      {
        on: {
          click: async () => {
            const go = shell.fromHere();
            try {
              const kept = await site.call(method, `/conversations/${conversation.id}/request`);
              if (kept) site.keepConversation(kept);
              go(kept ? location.pathname : '/messages', { replace: true });
            } catch (error) {
              toast(sayProblem(error));
            }
          },
        },
      },
      words,
    );
  const node = banner(say('conversation.request'), {
    actions: [answer(say('conversation.take'), 'PUT'), answer(say('conversation.refuse'), 'DELETE')],
  });
  page.listen(site, ['conversations'], () => page.now().request || node.remove());
  return node;
}
