// Reads what the name of a log says of a run among others: its seed, and the setting that it shares
// with runs of other seeds.

/** A word of its own that ends in the number: `seed1`, `seed_1`, `seed=1`, `rs-1`, and `s1`
 * without a sign between. */
const SEED =
  /(?<=^|[\s_./()[\],;-])(?:(?:random[\s_-]?)?seed[\s_=:-]*|rs[\s_=:-]?|s)(\d{1,10})(?=$|[\s_./()[\],;-])/i
/** What is left around it. */
const LOOSE = /(?:[\s_./,;-]*[([][\s_]*[)\]])|^[\s_./,;-]+|[\s_./,;-]+$/g

interface SeedName {
  readonly seed: number
  readonly setting: string
}

/** Undefined where the name has no seed, or nothing else. */
export function seedName(name: string): SeedName | undefined {
  const found = SEED.exec(name)
  if (!found) return undefined
  const [before, after] = [name.slice(0, found.index), name.slice(found.index + found[0].length)]
  const setting = `${before.replace(/[\s_./,;-]+$/, '')}${after}`.replaceAll(LOOSE, '').trim()
  return setting === '' ? undefined : { seed: Number(found[1]), setting }
}
