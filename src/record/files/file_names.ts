// Names the files of a run.
import type { Experiment } from '../../document/experiment/schema/schema.ts'

const MAX_NAME = 60

/** Words of a file name: letters, digits and dashes. As many as there is room for, each whole: a
 * number without its end is another number. */
export function fileSlug(text: string): string {
  const [first = '', ...others] = text
    .normalize('NFKD')
    .toLowerCase()
    .split(/\s/)
    .flatMap((word) => word.match(/[a-z0-9]+/g)?.join('-') ?? [])
  let slug = first.slice(0, MAX_NAME).replace(/-$/, '')
  for (const word of others) {
    if (slug.length + 1 + word.length > MAX_NAME) break
    slug += `-${word}`
  }
  return slug
}

/** How the files of a run of this experiment begin: its name and its seed. */
export const runFileStem = ({ name, seed }: Pick<Experiment, 'name' | 'seed'>): string =>
  `${fileSlug(name ?? '') || 'run'}-seed-${seed}`

/** The file with all metrics of a run; its name says where not every step is in it. */
export const metricsFileName = (
  stem: string,
  extension: 'jsonl' | 'csv',
  isThinned = false,
): string => `${stem}.metrics${isThinned ? '.thinned' : ''}.${extension}`
