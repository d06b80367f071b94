// The script of the visitor pages: times in the reader's zone, and a line when newer posts arrive. The pages are whole
// without it.

(() => {
  const { lang } = document.documentElement;
  // The region is the browser's, as in the app (core/text/text.js).
  const isRegional = new RegExp(`^${lang}(-\\w+)+$`);
  const region = navigator.languages.find((it) => isRegional.test(it)) ?? (lang === 'en' ? 'en-GB' : lang);
  const format = new Intl.DateTimeFormat(region, { dateStyle: 'medium', timeStyle: 'short' });
  for (const time of document.querySelectorAll('time[datetime]')) {
    // A day stays a day.
    if (time.textContent.includes(':')) time.textContent = format.format(new Date(time.dateTime));
  }
  document.querySelector('.utc')?.remove();
  // A block that scrolls can be reached by the keyboard.
  for (const code of document.querySelectorAll('pre')) if (code.scrollWidth > code.clientWidth) code.tabIndex = 0;

  // Signing in returns to the post of a permalink. The server does not see its fragment.
  const returnToPost = () => {
    for (const link of document.querySelectorAll('a[href^="/sign-in?"]:not([href*="back=/m/"])')) link.hash = /^#m\d+$/.test(location.hash) ? location.hash : '';
  };
  returnToPost();
  addEventListener('hashchange', returnToPost);

  const passkey = document.querySelector('.consent-passkey');
  if (passkey) offerPasskey(passkey);
  // A window of a proof: the app in the other one goes on.
  if (document.querySelector('[data-proved]')) {
    new BroadcastChannel('parley.proof').postMessage('proved');
    window.close();
  }

  const list = document.querySelector('.posts[data-live]');
  const feed = document.querySelector('link[rel="alternate"][type="application/feed+json"]');
  if (!list || !feed) return;
  const INTERVAL = 60_000;
  const forms = JSON.parse(list.dataset.new);
  const plurals = new Intl.PluralRules(lang);
  /** Ids of messages grow in length before they grow in their digits. */
  const isNewer = (one, other) => one.length > other.length || (one.length === other.length && one > other);
  const newest = [...list.querySelectorAll('.post[id^="m"]')].map((it) => it.id.slice(1)).reduce((a, b) => (isNewer(b, a) ? b : a), '');
  const look = async () => {
    if (document.hidden) return;
    const answer = await fetch(feed.href).catch(() => null);
    if (!answer?.ok) return;
    const { items } = await answer.json();
    const count = items.filter((it) => isNewer(it.id.split('/').at(-1), newest)).length;
    if (!count) return;
    const line = document.querySelector('.new-posts') ?? document.createElement('p');
    line.className = 'new-posts';
    line.setAttribute('role', 'status');
    const link = document.createElement('a');
    link.href = location.pathname + location.search;
    link.textContent = (forms[plurals.select(count)] ?? forms.other).replace('{n}', new Intl.NumberFormat(region).format(count));
    line.replaceChildren(link);
    list.after(line);
  };
  setInterval(look, Number(list.dataset.live) || INTERVAL);
  document.addEventListener('visibilitychange', look);

  /** On the page of an app: proves the session with a passkey, then shows the page without the password. */
  function offerPasskey(line) {
    const fault = line.nextElementSibling;
    const button = line.querySelector('button');
    // A passkey is for a host name. An older browser has the password.
    if (!globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON || /^\[|^[\d.]+$/.test(location.hostname)) return;
    const call = async (path, body) => {
      const answer = await fetch(`/api/v1/sessions/current/proof${path}`, {
        method: 'POST',
        ...(body && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
      });
      if (!answer.ok) throw new Error(String(answer.status));
      return answer;
    };
    line.hidden = false;
    button.addEventListener('click', async () => {
      button.disabled = true;
      fault.hidden = true;
      try {
        const options = await (await call('/options')).json();
        const credential = await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
        await call('', { credential: credential.toJSON() });
        location.replace(`/oauth/authorize?${line.closest('form').elements.request.value}`);
      } catch {
        button.disabled = false;
        fault.hidden = false;
        button.focus();
      }
    });
  }
})();
