// Loaded into a process by `--import`: its machine's clock is ahead by Q2T_LAB_CLOCK_AHEAD_MS.
const aheadMs = Number(process.env.Q2T_LAB_CLOCK_AHEAD_MS);
if (!Number.isFinite(aheadMs)) throw new Error('Q2T_LAB_CLOCK_AHEAD_MS is no number');

const RealDate = Date;

globalThis.Date = class Date extends RealDate {
  /** @param {[]} given what the original takes: nothing for now, a time, or its parts */
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + aheadMs);
    else super(...given);
  }

  static now() {
    return RealDate.now() + aheadMs;
  }
};
