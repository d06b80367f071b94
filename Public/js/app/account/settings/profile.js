// The own profile: name, picture, status, biography.

import { el, refill } from '../../core/dom.js';
import { say, sayProblem } from '../../core/text/text.js';
import { avatar } from '../../parts/user/avatar.js';
import { button, whileBusy } from '../../parts/forms/button.js';
import { squared } from '../../parts/forms/face.js';
import { field } from '../../parts/forms/field.js';
import { pictureField } from '../../parts/forms/picture.js';
import { toast } from '../../parts/overlays/toast.js';
import { changeMe } from './changeme.js';
import { statusForm } from './status.js';

export async function profile(shell, column) {
  const { site } = shell;
  const { limits } = site.server;
  const display = field(say('signIn.display'), {
    value: site.me.display_name ?? '',
    limit: limits.display_name_scalars,
    autocomplete: 'name',
  });
  const bio = field(say('profile.bio'), {
    value: site.me.bio,
    lines: 4,
    limit: limits.bio_scalars,
    hint: say('profile.bioHint'),
  });
  const face = el('div.profile-face', null, avatar(site.me, { size: 4 }));
  const drawn = button(say('face.drawn'), { kind: 'quiet', on: () => take(() => site.client.calls.deleteAvatar({ id: 'me' })) });
  drawn.hidden = true;
  /** Shows the avatar on the server, a generated or an uploaded one: the event of a change arrives later than its answer. */
  const look = async () => {
    const { headers } = await fetch(site.me.avatar, { cache: 'reload' });
    drawn.hidden = headers.get('content-type')?.startsWith('image/svg') ?? true;
    refill(face, avatar({ avatar: site.me.avatar }, { size: 4 }));
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
  const own = pictureField(say('profile.picture'), {
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
    el(
      'form.panel-block',
      {
        on: {
          submit: (event) => {
            event.preventDefault();
            whileBusy(save, async () => {
              await changeMe(shell, { display_name: display.input.value.trim() || null, bio: bio.input.value }).then(
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
    statusForm(site.me, {
      limit: limits.status_scalars,
      save: (body) => changeMe(shell, body).then(() => toast(say('act.saved'))),
    }),
  );
}
