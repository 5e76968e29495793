import { setFlagsFromString } from "node:v8";

/** How much garbage may pile up beside what lives before all of it is collected. */
const GROWTH_PERCENT = 75;

/**
 * A server with thousands of waiting agents has much that lives for seconds: V8 would let its heap grow to four times
 * what is in use before it collects that (measured: 80 MB in use, 350 MB held). Call once, at start.
 */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
