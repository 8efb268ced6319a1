// Chooses which studies are trained in a given time: what is known to fit, then what nothing is
// known of, for as long as time is left.

const SECONDS = { s: 1, min: 60, m: 60, h: 3600 }

/** `2h`, `90m` or `45s` in seconds; undefined for anything else. */
export function secondsOf(text) {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(s|min|m|h)$/.exec(text) ?? []
  return number === undefined ? undefined : Number(number) * SECONDS[unit]
}

/** What `lab study --dry-run --out` says is missing of a study, and how long it takes; seconds are
 * undefined where none of its runs is known. */
export function missingOf(text) {
  const [, runs, , seconds] = /^(\d+) runs are missing(, about (\d+) s)?$/m.exec(text) ?? []
  if (runs === undefined) throw new Error('lab study --dry-run did not say what is missing')
  return { runs: Number(runs), seconds: seconds === undefined ? undefined : Number(seconds) }
}

/** The studies to train within `seconds`, in their order: first those that are known to fit one
 * after the other, then those without a run, which are stopped where time is over. */
export function chosen(studies, seconds) {
  let left = seconds
  const open = studies.filter(({ runs }) => runs > 0)
  const fitting = open.filter((study) => {
    const fits = study.seconds !== undefined && study.seconds <= left
    if (fits) left -= study.seconds
    return fits
  })
  return [...fitting, ...open.filter((study) => study.seconds === undefined)]
}
