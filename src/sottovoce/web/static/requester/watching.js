// Looks again and again: every other second while something changes, then less and less often, and
// not at all while nobody can see the page.

const QUICK = 2_000;
const SLOW = 15_000;
const GROWTH = 1.6;

/**
 * @param {() => Promise<string | null>} look says what it saw, in any words; null ends it all
 * @returns {() => Promise<void>} looks at once
 */
export function watch(look) {
  let pause = QUICK;
  let timer = 0;
  let seen = "";
  let isOver = false;
  /** @type {Promise<void> | null} */
  let going = null;

  async function turn() {
    const now = await look();
    isOver = now === null;
    pause = now === seen ? Math.min(SLOW, pause * GROWTH) : QUICK;
    seen = now ?? "";
  }

  function again() {
    clearTimeout(timer);
    if (isOver || document.hidden) return Promise.resolve();
    going ??= turn().finally(() => {
      going = null;
      if (!isOver && !document.hidden) timer = setTimeout(again, pause);
    });
    return going;
  }

  document.addEventListener("visibilitychange", () => {
    pause = QUICK;
    void again();
  });
  void again();
  // What is on its way may have been asked before whatever made somebody want to look.
  return async () => {
    await going;
    pause = QUICK;
    await again();
  };
}
