// Says which past run the page shows, how it ended, and leads back.
import { ArrowLeft, CircleAlert, type LucideIcon } from 'lucide-react'
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { CutName } from '../../kit/CutName.tsx'
import { closePast } from '../../open/opened_run.ts'
import { useCalledName } from '../../shown/names/called.ts'
import { endText } from '../../shown/run_words.ts'

interface PastStatusProps {
  readonly past: RunEntry
  readonly status: string
  readonly Icon: LucideIcon
  /** Said in place of how the run ended. */
  readonly says: string | undefined
}

export function PastStatus({ past, status, Icon, says }: PastStatusProps) {
  const name = useCalledName(past)
  const isCut = says === undefined && past.header.source?.is_cut === true
  const Sign = isCut ? CircleAlert : Icon
  return (
    <>
      <button
        type="button"
        className="plain past-name"
        data-testid="bar-past"
        title={`The page shows this past run, read-only: ${name}. Leave it`}
        onClick={closePast}
      >
        <ArrowLeft className="icon" aria-hidden="true" />
        <span className="visually-hidden">
          {past.header.source ? 'Imported run:' : 'Past run:'}{' '}
        </span>
        <CutName name={name} />
      </button>
      <p className="status" data-testid="status" data-status={isCut ? 'stopped' : status}>
        <Sign className="icon" aria-hidden="true" />
        <span>{says ?? endText(past.header)}</span>
      </p>
    </>
  )
}
