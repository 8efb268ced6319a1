// Takes a figure along: its numbers, or what is seen of it.
import { useRef } from 'react'
import { runFileStem } from '../../../record/files/file_names.ts'
import { saveFile } from '../../kit/save.ts'
import { shownRunWords } from '../../open/shown_run.ts'
import { shownExperiment } from '../../shown/run.ts'
import { shownStore } from '../../shown/shown.ts'
import { showToast, uiStore } from '../../shown/store.ts'
import { figurePng, figureSvg } from './figure_picture.ts'
import { type NumberTable, tableCsv, tableJsonl } from './figure_table.ts'

const KINDS = ['csv', 'jsonl', 'png', 'svg'] as const
type Kind = (typeof KINDS)[number]

const SAYS: Readonly<Record<Kind, string>> = {
  csv: 'The numbers of this figure as a table',
  jsonl: 'The numbers of this figure, a line per row',
  png: 'This figure as a picture in pixels',
  svg: 'This figure as a drawing, for papers and slides',
}

interface FigureFilesProps {
  readonly id: string
  readonly caption: string
  readonly table: () => NumberTable
}

export function FigureFiles({ id, caption, table }: FigureFilesProps) {
  const group = useRef<HTMLDivElement>(null)
  const fileOf = async (kind: Kind): Promise<Blob | undefined> => {
    if (kind === 'csv') return new Blob([tableCsv(table())], { type: 'text/csv' })
    if (kind === 'jsonl') return new Blob([tableJsonl(table())], { type: 'application/jsonl' })
    const body = group.current?.closest<HTMLElement>('.figure-body')
    if (!body) return undefined
    const { is_dark } = uiStore.getState()
    const content = { title: caption, run: shownRunWords(), is_dark }
    return kind === 'svg' ? figureSvg(body, content) : figurePng(body, content)
  }
  const save = async (kind: Kind) => {
    try {
      const blob = await fileOf(kind)
      const stem = runFileStem(shownExperiment(shownStore.getState()))
      if (blob) saveFile(`${stem}.${id.replace(/-numbers$/, '')}.${kind}`, blob)
    } catch (error) {
      showToast(`The picture could not be made: ${error instanceof Error ? error.message : error}`)
    }
  }
  return (
    <div ref={group} className="figure-files" role="group" aria-label={`Save “${caption}” as`}>
      {KINDS.map((kind) => (
        <button
          key={kind}
          type="button"
          className="plain"
          data-testid={`${id}-${kind}`}
          title={SAYS[kind]}
          onClick={() => void save(kind)}
        >
          {kind.toUpperCase()}
        </button>
      ))}
    </div>
  )
}
