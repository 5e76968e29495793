/** `in 42 s (at 14:03)`: how long from now, and what a clock of this machine shows then; the day where it is another. */
export function momentText(atMs: number, nowMs: number): string {
  const at = new Date(atMs);
  const sameDay = at.toDateString() === new Date(nowMs).toDateString();
  const two = (part: number) => String(part).padStart(2, "0");
  const day = sameDay ? "" : `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} `;
  return `in ${spanText(Math.max(0, Math.ceil((atMs - nowMs) / 1000)))} (at ${day}${two(at.getHours())}:${two(at.getMinutes())})`;
}

function spanText(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.ceil(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.ceil(hours / 24)} days`;
}
