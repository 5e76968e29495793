/** A pause that `wake` ends early. A wake outside a pause skips the next pause. */
export function interruptibleSleep() {
  let end: (() => void) | undefined;
  let wakeable = true;
  let woken = false;
  return {
    sleep(ms: number, mayWake: boolean): Promise<void> {
      if (mayWake && woken) {
        woken = false;
        return Promise.resolve();
      }
      wakeable = mayWake;
      return new Promise((resolve) => {
        const timer = setTimeout(() => end?.(), ms);
        timer.unref();
        end = () => {
          clearTimeout(timer);
          end = undefined;
          woken = false;
          resolve();
        };
      });
    },
    wake() {
      if (end && wakeable) end();
      else woken = true;
    },
    interrupt() {
      end?.();
    },
  };
}
