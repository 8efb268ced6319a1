// Computes the logistic function and its logarithm, without overflow.

/** 1 / (1 + exp(-x)). */
export const logistic = (x: number): number =>
  x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x))

/** log(logistic(x)); its derivative is logistic(-x). */
export const logLogistic = (x: number): number =>
  x >= 0 ? -Math.log1p(Math.exp(-x)) : x - Math.log1p(Math.exp(x))
