// Settings of a person: profile, look, notices, mail, password, sessions, tokens; and the way out.

import { el, icon, refill } from '../core/dom.js';
import { rememberLook } from '../core/theme.js';
import { displayName } from '../core/displayname.js';
import { avatar } from '../parts/avatar.js';
import { button, whileBusy } from '../parts/button.js';
import { ask, confirm, dialog } from '../parts/dialog.js';
import { squared } from '../parts/face.js';
import { choice, field } from '../parts/field.js';
import { savingForm } from '../parts/form.js';
import { toggle } from '../parts/switch.js';
import { personRow } from '../parts/person.js';
import { pictureField } from '../parts/picture.js';
import { plain } from '../core/plain.js';
import { pageBar } from '../parts/sidebar.js';
import { toast } from '../parts/toast.js';
import { chosenLanguage, languages, useLanguage } from '../account/language.js';
import { statusForm } from '../account/status.js';
import { isolate, say, sayProblem } from '../core/text.js';
import { moment, time } from '../core/times.js';

const parts = { profile, groups, look, notifications, email, privacy, password, passkeys, twostep, sessions, signins, tokens, stars, drafts };
const pictures = {
  profile: 'person',
  groups: 'users',
  look: 'palette',
  notifications: 'bell',
  email: 'mail',
  privacy: 'eye',
  password: 'key',
  passkeys: 'key',
  twostep: 'lock',
  sessions: 'shield',
  signins: 'clock',
  tokens: 'link',
  stars: 'star',
  drafts: 'edit',
};

async function notifications(shell, column) {
  const page = await import('../account/notifications.js');
  return page.notifications(shell, column);
}

async function email(shell, column) {
  return (await import('../account/email.js')).emailSettings(shell, column);
}

async function groups(shell, column) {
  const { groupDirectory } = await import('./groups.js');
  return groupDirectory(shell, column);
}

export async function open(shell, { part }) {
  const { site } = shell;
  const offered = Object.keys(parts).filter((it) => it !== 'email' || site.server.mail);
  if (offered.includes(part)) {
    const content = el('div.page-column');
    const close = await parts[part](shell, content);
    return {
      title: say(`you.${part}`),
      here: '/you',
      node: [
        pageBar(say(`you.${part}`), { back: () => shell.router.back('/you'), state: site.state }),
        el('div.page-body', null, content),
      ],
      close,
    };
  }
  return {
    title: say('place.you'),
    here: '/you',
    node: [
      pageBar(say('place.you'), { state: site.state }),
      el(
        'div.page-body',
        null,
        el(
          'div.page-column',
          null,
          personRow(site.me, { href: `/u/${encodeURIComponent(site.me.name)}` }),
          el(
            'nav.setting-list',
            { aria: { label: say('you.settings') } },
            offered.map((it) => settingLink(`/you/${it}`, pictures[it], say(`you.${it}`))),
          ),
          !site.isModerator &&
            site.mayInvite &&
            el('nav.setting-list', { aria: { label: say('invite.people') } }, settingLink('/admin/invites', 'link', say('invite.people'))),
          site.isModerator && [
            el('h2.section-title', null, say('admin.title')),
            el(
              'nav.setting-list',
              { aria: { label: say('admin.title') } },
              settingLink('/admin', 'shield', site.server.name),
            ),
          ],
          el('div.panel-block', null, button(say('act.signOut'), { picture: 'leave', on: () => signOut(shell) })),
        ),
      ),
    ],
  };
}

export function settingLink(href, picture, words, second) {
  return el(
    'a.setting-link',
    { href },
    icon(picture),
    el('span', null, words),
    second && el('span.mark', null, second),
    el('i', null, icon('onward')),
  );
}

/** Saves at once and reports errors. */
async function change(shell, body) {
  const { site } = shell;
  try {
    await site.updateMe(body);
  } catch (error) {
    toast(sayProblem(error));
    throw error;
  }
}

async function profile(shell, column) {
  const { site } = shell;
  const { limits } = site.server;
  const display = field(say('door.display'), {
    value: site.me.display_name ?? '',
    limit: limits.display_name_scalars,
    autocomplete: 'name',
  });
  const bio = field(say('you.bio'), {
    value: site.me.bio,
    lines: 4,
    limit: limits.bio_scalars,
    hint: say('you.bioHint'),
  });
  const face = el('div.profile-face', null, avatar(site.me, { size: 4 }));
  const drawn = button(say('face.drawn'), { kind: 'quiet', on: () => take(() => site.client.calls.deleteAvatar({ id: 'me' })) });
  drawn.hidden = true;
  /** Shows the avatar on the server: a generated or an uploaded one. */
  const look = async () => {
    const { headers } = await fetch(site.me.avatar, { cache: 'reload' });
    drawn.hidden = headers.get('content-type')?.startsWith('image/svg') ?? true;
    refill(face, avatar(site.me, { size: 4 }));
  };
  const take = async (work) => {
    try {
      await work();
      await look();
      site.say('me');
      toast(say('act.saved'));
    } catch (error) {
      toast(sayProblem(error));
    }
  };
  const own = pictureField(say('you.picture'), {
    maxBytes: limits.file_bytes,
    prepare: squared,
    on: (address) =>
      address &&
      take(async () => {
        const sent = await own.send(site.client);
        await site.client.calls.setAvatar({ id: 'me', body: { file: sent } });
      }),
  });
  own.choices.append(drawn);
  look().catch(() => {});
  const save = button(say('act.save'), { kind: 'primary', type: 'submit' });
  refill(
    column,
    face,
    own,
    statusForm(site.me, {
      limit: limits.status_scalars,
      save: (body) => change(shell, body).then(() => toast(say('act.saved'))),
    }),
    el(
      'form.panel-block',
      {
        on: {
          submit: (event) => {
            event.preventDefault();
            whileBusy(save, async () => {
              await change(shell, { display_name: display.input.value.trim() || null, bio: bio.input.value }).then(
                () => toast(say('act.saved')),
                () => {},
              );
            });
          },
        },
      },
      display,
      bio,
      save,
    ),
  );
}

async function look(shell, column) {
  const { site } = shell;
  const preferences = { ...site.me.preferences };
  const keep = async (more) => {
    Object.assign(preferences, more);
    rememberLook(preferences, site.server.hue);
    await change(shell, { preferences }).catch(() => {});
  };
  const pick = (name, values, fallback) =>
    choice(
      say(`look.${name}`),
      values.map((it) => [it, say(`look.${name}.${it}`)]),
      {
        value: preferences[name] ?? fallback,
        on: (value) => keep({ [name]: value }),
      },
    );
  refill(
    column,
    languageChoice(keep),
    pick('theme', ['system', 'light', 'dark'], 'system'),
    pick('density', ['comfortable', 'compact'], 'comfortable'),
    pick('shape', ['bubbles', 'rows'], 'bubbles'),
    toggle(say('look.tombstones'), {
      checked: preferences.tombstones !== false,
      hint: say('look.tombstonesHint'),
      on: (on) => keep({ tombstones: on }),
    }),
    toggle(say('look.letters'), {
      checked: preferences.letters !== false,
      hint: say('look.lettersHint'),
      on: (on) => keep({ letters: on }),
    }),
  );
}

/** The account keeps the language for its next devices; this device loads the app in it. */
function languageChoice(keep) {
  return choice(say('look.language'), [['', say('look.language.browser')], ...languages()], {
    value: chosenLanguage() ?? '',
    hint: say('look.languageHint'),
    on: async (code) => {
      await keep({ language: code || undefined });
      useLanguage(code || null);
    },
  });
}

async function privacy(shell, column) {
  const { site } = shell;
  const lists = await Promise.all(['muted', 'blocked'].map((it) => left(site, it)));
  refill(
    column,
    toggle(say('privacy.receipts'), {
      checked: site.me.show_receipts,
      hint: say('privacy.receiptsHint'),
      on: (on) => change(shell, { show_receipts: on }),
    }),
    toggle(say('privacy.presence'), {
      checked: site.me.show_presence,
      hint: say('privacy.presenceHint'),
      on: (on) => change(shell, { show_presence: on }),
    }),
    toggle(say('privacy.found'), {
      checked: site.me.discoverable,
      hint: say('privacy.foundHint'),
      on: (on) => change(shell, { discoverable: on }),
    }),
    addresses(site),
    choice(
      say('privacy.reach'),
      ['anyone', 'shared', 'nobody'].map((it) => [it, say(`privacy.reach.${it}`)]),
      {
        value: site.me.reachable_by,
        on: (value) => change(shell, { reachable_by: value }).catch(() => {}),
      },
    ),
    lists,
    el('h2.section-title', null, say('farewell.verb')),
    el(
      'div.panel-block',
      null,
      el('p.second', null, say('farewell.lead')),
      button(say('farewell.verb'), {
        kind: 'danger',
        on: async () => (await import('../account/leavesite.js')).leaveSite(shell),
      }),
    ),
  );
}

/** The contact addresses for discovery. The server stores digests only, so they can be replaced but not shown. */
function addresses(site) {
  if (site.parley?.settings?.discovery === false) return null;
  const own = field(say('addresses.own'), { lines: 2, hint: say('addresses.hint') });
  const lines = () => own.input.value.split('\n').map((it) => it.trim()).filter(Boolean);
  const save = button(say('addresses.save'), { type: 'submit' });
  const work = async () => {
    const given = lines();
    // Stored addresses are not shown, so an empty field asks for confirmation.
    if (!given.length && !(await confirm(say('addresses.none'), say('addresses.noneWords'), say('addresses.none')))) return;
    await site.call('PATCH', '/users/me', { body: { addresses: given } });
    own.input.value = '';
    toast(say('addresses.saved', { n: given.length }));
  };
  const words = (error) => {
    const wrong = lines()[/^addresses\[(\d+)\]$/.exec(error.field ?? '')?.[1]];
    return wrong ? say('addresses.wrong', { address: wrong }) : sayProblem(error);
  };
  return el('div.panel-block', null, savingForm(save, { work, words }, own));
}

/** Muted and blocked users, each with an undo button. */
async function left(site, kind) {
  const { data } = await site.call('GET', `/me/${kind}`, { query: { limit: 200 } });
  const verb = { muted: 'mute', blocked: 'block' }[kind];
  const row = (it) => {
    const end = button(say(`person.un${verb}`), {
      on: () =>
        whileBusy(end, () => site.call('DELETE', `/users/${it.id}/${verb}`)).then(
          () => node.remove(),
          (error) => toast(sayProblem(error)),
        ),
    });
    const node = el('div.setting-row', null, personRow(it, { href: `/u/${encodeURIComponent(it.name ?? it.id)}` }), end);
    return node;
  };
  return data.length ? [el('h2.section-title', null, say(`privacy.${kind}`)), el('div.setting-list', null, data.map(row))] : [];
}

async function password(shell, column) {
  const { site } = shell;
  const old = field(say('password.old'), { type: 'password', autocomplete: 'current-password', name: 'old_password' });
  const fresh = field(say('password.new'), {
    type: 'password',
    autocomplete: 'new-password',
    name: 'password',
    hint: say('door.passwordHint', { n: site.server.limits.password_min_scalars }),
  });
  const keep = toggle(say('password.keepTokens'), { hint: say('password.keepTokensHint') });
  const save = button(say('password.verb'), { kind: 'primary', type: 'submit' });
  const work = async () => {
    await site.call('PUT', '/me/password', {
      body: { old_password: old.input.value, password: fresh.input.value, keep_tokens: keep.input.checked },
    });
    old.input.value = fresh.input.value = '';
    toast(say('password.done'));
  };
  const words = (error) => (error.field === 'old_password' ? say('password.wrong') : sayProblem(error));
  refill(column, savingForm(save, { work, words }, old, fresh, keep));
}

async function passkeys(shell, column) {
  return (await import('../account/passkeys.js')).passkeys(shell, column);
}

async function twostep(shell, column) {
  return (await import('../account/twostep.js')).twoStep(shell, column);
}

async function signins(shell, column) {
  return (await import('../account/signins.js')).signIns(shell, column);
}

async function drafts(shell, column) {
  return (await import('../account/drafts.js')).drafts(shell, column);
}

/** One of a list of things that can be ended here; `verb` says how, if it can. */
function endable(site, words, second, verb, path) {
  const row = el('div.setting-row', null, el('span', null, el('span', null, words), el('span.second', null, second)));
  const end = () =>
    site.call('DELETE', path).then(
      () => row.remove(),
      (error) => toast(sayProblem(error)),
    );
  if (verb) row.append(button(verb, { on: end }));
  return row;
}

async function sessions(shell, column) {
  const { site } = shell;
  const page = await site.call('GET', '/sessions');
  const endOthers = button(say('sessions.endOthers'), {
    on: () => whileBusy(endOthers, () => site.call('DELETE', '/sessions')).then(() => sessions(shell, column), (error) => toast(sayProblem(error))),
  });
  refill(
    column,
    el('p.second', null, say('sessions.lead')),
    el(
      'div.setting-list',
      null,
      page.data.map((it) =>
        endable(
          site,
          it.name || say('sessions.unnamed'),
          [it.current ? say('sessions.current') : time(it.last_used_at ?? it.created_at, moment), it.address && ` · ${it.address}`],
          it.current ? null : say('sessions.end'),
          `/sessions/${it.id}`,
        ),
      ),
    ),
    page.data.length > 1 && el('div.form-foot', null, endOthers),
  );
}

async function tokens(shell, column) {
  const { site } = shell;
  const page = await site.call('GET', '/me/tokens');
  const make = async () => {
    const name = await ask(
      say('tokens.make'),
      field(say('tokens.name'), { hint: say('tokens.nameHint'), required: true, limit: 64 }),
      say('tokens.make'),
    );
    if (!name) return;
    try {
      const made = await site.call('POST', '/me/tokens', {
        body: { name, scope: 'write', client_id: crypto.randomUUID() },
      });
      dialog(
        say('tokens.made'),
        [el('p', null, say('tokens.once')), field(say('tokens.token'), { value: made.token })],
        { onClose: () => tokens(shell, column) },
      );
    } catch (error) {
      toast(sayProblem(error));
    }
  };
  refill(
    column,
    el('p.second', null, say('tokens.lead')),
    el(
      'div.setting-list',
      null,
      page.data.map((it) =>
        endable(
          site,
          it.name,
          [say(`scope.${it.scope}`), ' · ', it.last_used_at ? time(it.last_used_at, moment) : say('tokens.unused')],
          say('tokens.end'),
          `/me/tokens/${it.id}`,
        ),
      ),
    ),
    el('div.form-foot', null, button(say('tokens.make'), { picture: 'plus', on: make })),
  );
}

async function stars(shell, column) {
  const { site } = shell;
  const page = await site.call('GET', '/me/actions', { query: { type: 'star' } });
  refill(
    column,
    page.data.length
      ? page.data.map((it) => {
          const author = site.person(it.author_id);
          return el(
            'a.hit',
            { href: `/m/${it.id}` },
            el('span.second', null, isolate(displayName(author)), ' · ', time(it.created_at, moment)),
            el('span', null, plain(it.text ?? '', 200)),
          );
        })
      : el('p.second', null, say('stars.none')),
  );
}

/** Signs out and erases the cache; asks if messages are unsent. */
async function signOut(shell) {
  const { site } = shell;
  try {
    await site.signOut();
  } catch (error) {
    if (error.code !== 'unsent') return toast(sayProblem(error));
    if (await confirm(say('signOut.title'), say('signOut.waiting', { n: error.params.count }), say('act.signOut')))
      await site.signOut({ isForced: true });
  }
  return undefined;
}
