/**
 * Kinds of segments (numbers of the stored format) and the groups in which people see them: one
 * letter, one colour, one legend entry, one number key each.
 */

export const NUM_KINDS = 10;
export const IDLE = 255;

export const Kind = Object.freeze({
  FORWARD: 0,
  BACKWARD: 1,
  WEIGHT: 2,
  RECOMPUTE: 3,
  ALL_REDUCE: 4,
  OPTIMIZER: 5,
  PREFILL: 6,
  BLOCKED_SEND: 7,
  LOCAL_TRANSFER: 8,
  WAN_TRANSFER: 9,
});

/** What a kind is called in sentences, by number. */
export const KIND_NAMES = [
  "forward",
  "backward",
  "weight gradient",
  "recompute",
  "all-reduce",
  "optimizer",
  "prefill",
  "blocked send",
  "transfer inside the datacenter",
  "transfer over the WAN",
];

/**
 * @typedef {{letter: string, name: string, kinds: number[], token: string, outlined?: boolean}} KindGroup
 */

/** In the order of the number keys 1 to 9. @type {KindGroup[]} */
export const GROUPS = [
  { letter: "F", name: "forward", kinds: [Kind.FORWARD], token: "f" },
  { letter: "B", name: "backward", kinds: [Kind.BACKWARD], token: "b" },
  { letter: "W", name: "weight gradient", kinds: [Kind.WEIGHT], token: "w" },
  { letter: "R", name: "recompute", kinds: [Kind.RECOMPUTE], token: "r" },
  { letter: "C", name: "comm (local)", kinds: [Kind.ALL_REDUCE, Kind.LOCAL_TRANSFER], token: "c" },
  { letter: "N", name: "comm (WAN)", kinds: [Kind.WAN_TRANSFER], token: "n" },
  { letter: "P", name: "prefill fill", kinds: [Kind.PREFILL], token: "p" },
  { letter: "O", name: "optimizer", kinds: [Kind.OPTIMIZER], token: "o" },
  { letter: "S", name: "blocked send", kinds: [Kind.BLOCKED_SEND], token: "s", outlined: true },
];

/** Group index by kind. */
export const GROUP_OF_KIND = new Uint8Array(NUM_KINDS);
GROUPS.forEach((group, index) => group.kinds.forEach((kind) => (GROUP_OF_KIND[kind] = index)));

/** Whether segments of the kind have a microbatch, and so a number beside their letter. */
export const HAS_MICROBATCH = new Set([
  Kind.FORWARD,
  Kind.BACKWARD,
  Kind.WEIGHT,
  Kind.RECOMPUTE,
  Kind.BLOCKED_SEND,
  Kind.LOCAL_TRANSFER,
  Kind.WAN_TRANSFER,
]);

/** Bottom to top in the overview strip: what occupies workers. */
export const STACK_ORDER = [
  Kind.FORWARD,
  Kind.BACKWARD,
  Kind.WEIGHT,
  Kind.RECOMPUTE,
  Kind.ALL_REDUCE,
  Kind.BLOCKED_SEND,
  Kind.OPTIMIZER,
  Kind.PREFILL,
];
