// Names the files of a run.
import type { Experiment } from '../../document/experiment/schema/schema.ts'

const MAX_NAME = 60

/** Words of a file name: letters, digits and dashes. */
export function fileSlug(text: string): string {
  const words = text
    .normalize('NFKD')
    .toLowerCase()
    .match(/[a-z0-9]+/g)
  return words?.join('-').slice(0, MAX_NAME).replace(/-$/, '') ?? ''
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
