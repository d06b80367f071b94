export function open(shell) {
  return shell.faultPage({ code: 'not_found' });
}
