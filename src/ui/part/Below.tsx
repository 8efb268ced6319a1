// Says how many prompts of a list lie below what is seen of it, or that the last one does in part,
// and shows more on a phone.
import type { useWholeRows } from './whole_rows.ts'

interface BelowProps extends ReturnType<typeof useWholeRows> {
  /** What is said before it of the list as a whole. */
  readonly says?: string
  readonly testId: string
}

const scrollWords = (below: number): string => {
  if (below === 0) return 'Scroll for the rest of the last prompt.'
  return below === 1 ? 'Scroll for one more prompt.' : `Scroll for ${below} more prompts.`
}

const moreWords = (below: number): string => {
  if (below === 0) return 'Show the rest of the last prompt'
  return below === 1 ? 'Show the last prompt' : `Show more prompts: ${below} are left`
}

export function Below({ below, isCut, more, says = '', testId }: BelowProps) {
  if (below === 0 && !isCut) return null
  return (
    <p className="soft rows-below" data-testid={testId}>
      {says}
      {more ? (
        <button type="button" onClick={more}>
          {moreWords(below)}
        </button>
      ) : (
        <span>{scrollWords(below)}</span>
      )}
    </p>
  )
}
