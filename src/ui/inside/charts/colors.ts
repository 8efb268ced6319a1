// Gives one colour for each part of a layer, in every figure.
export const STATE = 'var(--series-1)'
export const FEED_FORWARD = 'var(--series-2)'
export const ATTENTION = 'var(--series-3)'
export const INK = 'var(--ink)'
export const SOFT = 'var(--soft)'
export const GREY = 'var(--edge)'
