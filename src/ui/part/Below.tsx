// Says how many prompts of a list lie below what is seen of it, and shows more on a phone.
import type { useWholeRows } from './whole_rows.ts'

interface BelowProps extends ReturnType<typeof useWholeRows> {
  /** What is said before it of the list as a whole. */
  readonly says?: string
  readonly testId: string
}

export function Below({ below, more, says = '', testId }: BelowProps) {
  if (below === 0) return null
  return (
    <p className="soft rows-below" data-testid={testId}>
      {says}
      {more
        ? null
        : below === 1
          ? 'Scroll for one more prompt.'
          : `Scroll for ${below} more prompts.`}
      {more ? (
        <button type="button" onClick={more}>
          {below === 1 ? 'Show the last prompt' : `Show more prompts: ${below} are left`}
        </button>
      ) : null}
    </p>
  )
}
