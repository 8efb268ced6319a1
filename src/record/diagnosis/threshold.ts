// Holds the threshold of the suggested layer. It lies apart from the rule, because the page's
// preferences hold it from the start.

/** Nats below which a feed-forward counts as changing nothing. */
export const DEFAULT_THRESHOLD = 0.05
