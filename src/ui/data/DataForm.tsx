// Draws the inside of the dialog for data: a file, its first rows, which column is what, the split
// and the lengths, and then the settings.
import { useEffect, useState } from 'react'
import { useStore } from 'zustand'
import {
  applyData,
  type ContentFile,
  type DataPlan,
  endReading,
  type OpenedData,
  type Outcome,
  outcomeOf,
  readDataFile,
} from '../../page/client/data_file.ts'
import { closeDialog } from '../open/dialogs.ts'
import { closePast } from '../open/opened_run.ts'
import { showToast } from '../shown/store.ts'
import { DataStart } from './DataStart.tsx'
import { FilePicker } from './FilePicker.tsx'
import { FirstRows } from './FirstRows.tsx'
import { FoundRows } from './FoundRows.tsx'
import { modelTokenizer, openedDataStore } from './open_data.ts'
import { PlanFields } from './PlanFields.tsx'
import { TokenizerPicker, useTokenizer } from './TokenizerPicker.tsx'
import './data.css'

interface Reading {
  readonly of: File
  readonly opened?: OpenedData
  readonly why?: string
}

/** What a file holds once it is read; undefined meanwhile. */
function useDataFile(file: File | undefined): {
  readonly reading: Reading | undefined
  readonly progress: number
} {
  const [reading, setReading] = useState<Reading>()
  const [progress, setProgress] = useState(0)
  useEffect(() => {
    if (!file) return undefined
    const ended = new AbortController()
    const { signal } = ended
    setProgress(0)
    readDataFile(file, { onProgress: setProgress, signal }).then(
      (opened) => signal.aborted || setReading({ of: file, opened }),
      (error) => signal.aborted || setReading({ of: file, why: String(error?.message ?? error) }),
    )
    return () => ended.abort()
  }, [file])
  return { reading: reading?.of === file ? reading : undefined, progress }
}

/** What the plan makes of the rows; undefined while that is found out. */
function useOutcome(
  opened: OpenedData,
  val: OpenedData | undefined,
  plan: DataPlan,
  tokenizer: ContentFile | undefined,
): { readonly outcome: Outcome | undefined; readonly progress: number } {
  const [found, setFound] = useState<{ readonly of: DataPlan; readonly outcome: Outcome }>()
  const [progress, setProgress] = useState(0)
  useEffect(() => {
    const ended = new AbortController()
    const { signal } = ended
    setFound(undefined)
    setProgress(0)
    outcomeOf(opened, val, plan, { tokenizer, onProgress: setProgress, signal }).then(
      (outcome) => signal.aborted || setFound({ of: plan, outcome }),
    )
    return () => ended.abort()
  }, [opened, val, plan, tokenizer])
  return { outcome: found?.of === plan ? found.outcome : undefined, progress }
}

export function DataForm() {
  const file = useStore(openedDataStore, (state) => state.file)
  const { reading, progress } = useDataFile(file)
  useEffect(() => endReading, [])
  return (
    <div className="data" data-testid="data-form">
      <div className="dialog-head">
        <h2>Your own data</h2>
        <button type="button" onClick={() => closeDialog('data')}>
          Close
        </button>
      </div>
      <p className="soft">
        Rows of a prompt and a right answer, or text. Drop a file anywhere on the page, or choose
        one. Nothing is uploaded.
      </p>
      <FilePicker
        label="File"
        id="data-file"
        file={file}
        isFirst
        onFile={(chosen) => openedDataStore.setState({ file: chosen })}
      />
      {file ? null : <DataStart onFile={(chosen) => openedDataStore.setState({ file: chosen })} />}
      {file && !reading ? (
        <p role="status" data-testid="data-reading">
          Reading {file.name} … {progress > 0 ? <progress value={progress} /> : null}{' '}
          <button
            type="button"
            data-testid="data-cancel"
            onClick={() => openedDataStore.setState({ file: undefined })}
          >
            Cancel
          </button>
        </p>
      ) : null}
      {reading?.why === undefined ? null : <Refused why={reading.why} />}
      {reading?.opened ? (
        <Opened key={reading.opened.content.hash} opened={reading.opened} />
      ) : null}
    </div>
  )
}

const Making = ({ plan, progress }: { readonly plan: DataPlan; readonly progress: number }) => (
  <p role="status" data-testid="data-making">
    {plan.tokenizer === 'bpe' ? 'Training the tokenizer …' : 'Reading the rows …'}{' '}
    {progress > 0 ? <progress value={progress} aria-label="Share of the work" /> : null}
  </p>
)

const Refused = ({ why }: { readonly why: string }) => (
  <p className="data-refused" role="alert" data-testid="data-refused">
    {why}
  </p>
)

interface LeaveOutProps {
  readonly badRows: number
  readonly onLeaveOut: () => void
}

const LeaveOut = ({ badRows, onLeaveOut }: LeaveOutProps) => (
  <button type="button" data-testid="data-leave-out" onClick={onLeaveOut}>
    Leave out {badRows.toLocaleString('en-GB')} bad {badRows === 1 ? 'row' : 'rows'}
  </button>
)

/** A file that was read, until its rows are used. */
function Opened({ opened }: { readonly opened: OpenedData }) {
  const [itsTokenizer] = useState(modelTokenizer)
  const [plan, setPlan] = useState<DataPlan>({
    ...opened.first_plan,
    ...(itsTokenizer.length > 0 && { tokenizer: 'file' }),
  })
  const [valFile, setValFile] = useState<File>()
  const [refused, setRefused] = useState<string>()
  const { reading: val } = useDataFile(valFile)
  const [tokenizerFiles, setTokenizerFiles] = useState<readonly File[]>(itsTokenizer)
  const tokenizer = useTokenizer(tokenizerFiles)
  const { outcome, progress } = useOutcome(opened, val?.opened, plan, tokenizer?.content)
  const change = (part: Partial<DataPlan>) => {
    setRefused(undefined)
    setPlan((before) => ({ ...before, ...part }))
  }
  const apply = async () => {
    if (!outcome?.ok) return
    const applied = await applyData(opened, val?.opened, plan, outcome.prepared, tokenizer?.content)
    setRefused('refused' in applied ? applied.refused : undefined)
    if ('refused' in applied) return
    closePast()
    closeDialog('data')
    const told = applied.told.map((sentence) => ` ${sentence}`).join('')
    showToast(`The settings train on ${opened.name}.${told} Undo brings them back.`)
  }
  return (
    <>
      <FirstRows opened={opened} plan={plan} />
      {opened.notes.map((note) => (
        <p key={note} className="soft">
          {note}
        </p>
      ))}
      <PlanFields
        keys={opened.keys}
        plan={plan}
        hasVal={val?.opened !== undefined}
        onPlan={change}
      />
      {plan.tokenizer === 'file' ? (
        <TokenizerPicker files={tokenizerFiles} onFiles={setTokenizerFiles} />
      ) : null}
      {tokenizer?.why === undefined ? null : <Refused why={tokenizer.why} />}
      <FilePicker
        label="Held-out rows from a file of their own (optional)"
        id="data-val-file"
        file={valFile}
        onFile={setValFile}
      />
      {val?.why === undefined ? null : <Refused why={val.why} />}
      {outcome ? null : <Making plan={plan} progress={progress} />}
      {outcome?.ok ? <FoundRows prepared={outcome.prepared} plan={plan} /> : null}
      {outcome?.ok === false ? <Refused why={outcome.why} /> : null}
      {outcome?.ok === false && outcome.bad_rows !== undefined ? (
        <LeaveOut badRows={outcome.bad_rows} onLeaveOut={() => change({ skip_bad_rows: true })} />
      ) : null}
      {refused === undefined ? null : <Refused why={refused} />}
      <button
        type="button"
        className="primary"
        data-testid="data-use"
        disabled={!outcome?.ok}
        onClick={() => void apply()}
      >
        Use this data
      </button>
    </>
  )
}
