// Says of a log's charts what its own trainer means by a metric, and nothing where nobody knows.
import { unitOf } from '../../plot/axes/unit.ts'
import type { MoreChart } from './chart_entry.ts'

interface Said {
  readonly title: string
  readonly note?: string
}

/** What the lab measures under another name, or otherwise, than TRL. */
const TRL: Readonly<Record<string, Said>> = {
  'policy-loss': {
    title: 'Loss',
    note: 'TRL’s loss: with beta times the KL, where beta is not 0',
  },
  'loss-kl': { title: 'KL to the reference', note: 'TRL’s kl: mean over the tokens' },
}

/** Names that claim no more than every log has. */
const PLAIN: Readonly<Record<string, Said>> = {
  'policy-loss': { title: 'Loss' },
  'loss-kl': { title: 'KL to the reference' },
}

/** A chart of a log of this kind, which has these metrics, with its unit. What stands below the
 * lab's own says more: how the lab measures. */
export function chartOfLog<T extends MoreChart>(
  chart: T,
  kind: string,
  metrics: readonly string[],
): T {
  if (kind === 'lab') return chart
  // Supervised training has no KL in its loss.
  const isTrl = kind.startsWith('trl') && metrics.includes('actor/kl_loss')
  const names = isTrl ? TRL : kind.startsWith('verl') ? {} : PLAIN
  return { ...chart, note: chart.note && unitOf(chart.note), ...names[chart.id] }
}
