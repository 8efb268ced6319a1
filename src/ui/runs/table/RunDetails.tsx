// Draws name, notes and colour of a run, and what is known of where it came from.

import { SlidersHorizontal, Upload } from 'lucide-react'
import { useEffect, useId, useRef } from 'react'
import { lasting } from '../../../document/experiment/steered/lasting.ts'
import { doneByHand } from '../../../document/experiment/steering/steered_kernels.ts'
import { labelRun } from '../../../page/runs/library/library.ts'
import { type RunEntry, runOf } from '../../../page/runs/library/library_store.ts'
import { MAX_NAME, MAX_NOTES, parseTags } from '../../../page/runs/record/read_labels.ts'
import { runName } from '../../../record/run/names.ts'
import { isLive, RUN_COLORS, seedOf } from '../../../record/run/record.ts'
import { openExport } from '../../open/open_export.ts'
import { takeSettings } from '../../open/take_settings.ts'
import { changedText, endText, tookText, whenText } from '../../shown/run_words.ts'
import { RunMark } from '../base/RunMark.tsx'

/** The run that this one comes from, and where it left it. */
function parentText({ parent, parent_step }: RunEntry['header']): string | undefined {
  const from = parent === undefined ? undefined : runOf(parent)
  const name = from && runName(from).name
  if (parent_step === undefined) return name
  return `${name === undefined ? 'a run that is not in this browser' : `“${name}”`}, step ${parent_step}`
}

/** What can be said of a run in one line each. */
function facts({ header }: RunEntry): [string, string][] {
  const { experiment, adapter, kernels, versions, steered, source } = header
  const took = tookText(header)
  const ended = isLive(header.status) ? undefined : endText(header)
  const done = doneByHand(lasting({ steered, steering: header.document.steering })).length
  const said: [string, string | undefined][] = [
    ['Begun', source?.begun === undefined ? undefined : whenText(source.begun, Date.now())],
    [source ? 'Imported' : 'Begun', whenText(header.started_at, Date.now())],
    ['Ended', source ? undefined : took === undefined ? ended : `${ended}, after ${took}`],
    ['Imported from', source?.file],
    ['Task', source ? undefined : experiment.task.id.replaceAll('_', ' ')],
    ['Seed', seedOf(header)?.toString()],
    ['Steered', done > 0 ? `${done} ${done === 1 ? 'change' : 'changes'} by hand` : undefined],
    ...changedText(header),
    ['Adapter', adapter || undefined],
    [
      'Kernels',
      source
        ? undefined
        : kernels === ''
          ? 'the default ones'
          : 'chosen for the adapter, and pinned',
    ],
    ['Version', versions.understory],
    [header.parent_step === undefined ? 'Settings of' : 'Continues from', parentText(header)],
    ['Error', header.error?.message],
    ['Import', source && source.remarks.length > 0 ? source.remarks.join(' ') : undefined],
  ]
  return said.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
}

/** What a person most likely came for: typing replaces the name. */
function Name({ id, name }: { readonly id: string; readonly name: string }) {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    field.current?.focus()
    field.current?.select()
  }, [])
  return (
    <label>
      <span>Name</span>
      <input
        ref={field}
        type="text"
        data-testid="run-name"
        maxLength={MAX_NAME}
        defaultValue={name}
        placeholder="automatic"
        onChange={({ target }) => labelRun(id, { name: target.value.trim() })}
      />
    </label>
  )
}

export function RunDetails({ entry, name }: { readonly entry: RunEntry; readonly name: string }) {
  const { id, labels } = entry
  const group = useId()
  return (
    <div className="run-edit" data-testid="run-details">
      <Name id={id} name={name} />
      <label>
        <span>Tags, with commas between them</span>
        <input
          type="text"
          data-testid="run-tags"
          defaultValue={labels.tags.join(', ')}
          placeholder="baseline, paper"
          onChange={({ target }) => labelRun(id, { tags: parseTags(target.value) })}
        />
      </label>
      <fieldset className="run-colors">
        <legend>Colour</legend>
        {RUN_COLORS.map(({ color }, i) => (
          <label key={color}>
            <input
              type="radio"
              name={group}
              checked={labels.color === i}
              aria-label={`Colour ${i + 1}`}
              onChange={() => labelRun(id, { color: i })}
            />
            <RunMark color={i} />
          </label>
        ))}
      </fieldset>
      <label className="run-notes">
        <span>Notes</span>
        <textarea
          data-testid="run-notes"
          rows={3}
          maxLength={MAX_NOTES}
          defaultValue={labels.notes}
          onChange={({ target }) => labelRun(id, { notes: target.value })}
        />
      </label>
      <dl>
        {facts(entry).map(([term, value]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {entry.header.source ? null : (
        <div className="run-ways">
          <button type="button" data-testid="take-settings" onClick={() => takeSettings(id)}>
            <SlidersHorizontal className="icon" aria-hidden="true" /> Use these settings
          </button>
          <button
            type="button"
            data-testid="export-run"
            aria-haspopup="dialog"
            onClick={() => openExport({ record: id })}
          >
            <Upload className="icon" aria-hidden="true" /> Export …
          </button>
        </div>
      )}
    </div>
  )
}
