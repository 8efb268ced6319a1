// Draws the files: as one .zip, or straight into a folder.
import { Download, FolderDown } from 'lucide-react'
import { useState } from 'react'
import { formatBytes } from '../../kit/format.ts'
import { saveFile } from '../../kit/save.ts'
import { zipOf } from '../../kit/zip.ts'
import { canPickFolder, pickFolder, writeInto } from './folder.ts'
import { filesOf, type Outcome, type Plan } from './plan.ts'
import type { PageSource } from './sources.ts'

interface Props {
  readonly source: PageSource
  readonly plan: Plan
  readonly outcome: Outcome
}

async function asZip({ source, plan, outcome }: Props): Promise<string> {
  const { name, files } = filesOf(source, plan, outcome.proposed)
  const blob = await zipOf(name, files)
  saveFile(`${name}.zip`, blob)
  return `Saved ${name}.zip: ${files.length} files, ${formatBytes(blob.size)}.`
}

async function asFolder({ source, plan, outcome }: Props): Promise<string> {
  const parent = await pickFolder()
  if (!parent) return ''
  const { name, files } = filesOf(source, plan, outcome.proposed)
  const own = await writeInto(parent, name, files)
  return `Saved ${files.length} files in ${parent.name === '' ? '' : `${parent.name}/`}${own}.`
}

export function SaveButtons(props: Props) {
  const [last, setLast] = useState({ text: '', of: '' })
  // What was saved of another source or system says nothing of these.
  const of = JSON.stringify([props.source.title, props.source.step, props.plan])
  const said = last.of === of ? last.text : ''
  const setSaid = (text: string) => setLast({ text, of })
  const [isBusy, setIsBusy] = useState(false)
  const isRefused = 'refused' in props.outcome
  const save = async (write: (props: Props) => Promise<string>) => {
    setIsBusy(true)
    setSaid('Writing …')
    try {
      setSaid(await write(props))
    } catch (error) {
      setSaid(`It could not be written: ${error instanceof Error ? error.message : error}`)
    }
    setIsBusy(false)
  }
  return (
    <>
      <p role="status" className="export-said" data-testid="export-said">
        {said}
      </p>
      <div className="export-ways">
        <button
          type="button"
          className="primary"
          data-testid="export-download"
          disabled={isRefused || isBusy}
          onClick={() => void save(asZip)}
        >
          <Download className="icon" aria-hidden="true" /> Download .zip
        </button>
        {canPickFolder() ? (
          <button
            type="button"
            data-testid="export-folder"
            disabled={isRefused || isBusy}
            onClick={() => void save(asFolder)}
          >
            <FolderDown className="icon" aria-hidden="true" /> Save into a folder …
          </button>
        ) : null}
      </div>
    </>
  )
}
