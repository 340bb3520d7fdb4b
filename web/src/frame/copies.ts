/** What is copied off the page holds exact times, not "12 s ago". */
export function copyExactTimes(): void {
  document.addEventListener('copy', (event) => {
    const chosen = getSelection();
    if (!chosen || chosen.isCollapsed || !event.clipboardData) return;
    const copy = document.createElement('div');
    for (let i = 0; i < chosen.rangeCount; i++) copy.append(chosen.getRangeAt(i).cloneContents());
    const times = copy.querySelectorAll('time[data-exact]');
    if (times.length === 0) return;
    const relative = [...times].map((time) => time.textContent ?? '');
    let text = chosen.toString();
    let from = 0;
    [...times].forEach((time, i) => {
      const told = relative[i] ?? '';
      const at = told ? text.indexOf(told, from) : -1;
      if (at < 0) return;
      const exact = time.getAttribute('data-exact') ?? told;
      text = text.slice(0, at) + exact + text.slice(at + told.length);
      from = at + exact.length;
    });
    event.clipboardData.setData('text/plain', text);
    event.preventDefault();
  });
}
