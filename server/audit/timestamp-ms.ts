const DAY = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

let cachedDay = "";
let cachedDayMs = Number.NaN;

const dayMs = (day: string): number => {
  if (day === cachedDay) return cachedDayMs;
  const ms = DAY.test(day) ? Date.parse(`${day}T00:00:00.000Z`) : Number.NaN;
  // Engines disagree on 31 February; only a day that reads back as itself counts.
  const exists = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
  cachedDay = day;
  cachedDayMs = exists ? ms : Number.NaN;
  return cachedDayMs;
};

/**
 * Milliseconds of `YYYY-MM-DDTHH:MM:SS.mmmZ`, NaN for any other spelling. Strict, because two spellings of one
 * moment would hash alike; and quick, because the verifier reads millions (days come in runs).
 */
export const timestampMs = (text: string): number => {
  if (text.length !== 24 || !TIME.test(text.slice(10))) return Number.NaN;
  const two = (at: number) => text.charCodeAt(at) * 10 + text.charCodeAt(at + 1) - 528;
  const ms = text.charCodeAt(20) * 100 + two(21) - 4800;
  return dayMs(text.slice(0, 10)) + two(11) * 3_600_000 + two(14) * 60_000 + two(17) * 1000 + ms;
};
