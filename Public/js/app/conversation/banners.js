// The banners above the messages: the first steps of an owner, and those of few pages.

import { backOff, wait } from '../../parley/time.js';
import { el } from '../core/dom.js';
import { say } from '../core/text/text.js';

/** The banners of the conversation, in their order. */
export function banners(page) {
  const { shell, site, conversation } = page;
  const isRoom = conversation.kind === 'room';
  return [
    conversation.request && rare((it, node) => it.fillRequest(page, node)),
    isRoom && site.isModerator && pauseBanner(page),
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
  return rare((it, node) => it.fillWelcome(page, arrival, node), 'div.welcome');
}

/** A banner for moderators, loaded with the first pause. */
function pauseBanner(page) {
  const { site } = page;
  const node = el('div');
  const draw = () => {
    const isPaused = Object.entries(site.parley.settings ?? {}).some(([name, value]) => name.endsWith('_paused_until') && Date.parse(value) > Date.now());
    if (isPaused && !node.firstChild) node.append(rare((it, inner) => it.fillPauses(page, inner)));
  };
  draw();
  page.listen(site, ['me'], draw);
  return node;
}

/** A banner that few pages have. Its module comes after the page. */
function rare(fill, name = 'div') {
  const node = el(name);
  import('./rarebanners.js').then((it) => fill(it, node)).catch(() => {});
  return node;
}
