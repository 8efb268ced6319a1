// Makes a Jupyter notebook (nbformat 4.5) of a Python file whose cells begin with `# %%`, the form
// that editors read as a notebook too.
import { type OutFile, textFile } from '../../formats/out_file.ts'

/** A cell begins with this line; `[markdown]`: its lines are comments that hold Markdown. */
const CELL = /^# %%( \[markdown\])?$/

/** Text in lines, each but the last with its line end, as nbformat keeps it. */
const lines = (text: string): string[] => text.split(/(?<=\n)/)

interface Cell {
  readonly isMarkdown: boolean
  readonly text: string
}

function cellsOf(python: string): Cell[] {
  const cells: { isMarkdown: boolean; lines: string[] }[] = []
  for (const line of python.split('\n')) {
    const begins = CELL.exec(line)
    if (begins) cells.push({ isMarkdown: begins[1] !== undefined, lines: [] })
    else cells.at(-1)?.lines.push(line)
  }
  return cells.map(({ isMarkdown, lines: own }) => {
    const text = isMarkdown ? own.map((line) => line.replace(/^# ?/, '')) : own
    return { isMarkdown, text: text.join('\n').trim() }
  })
}

/** The notebook at `path`. `values` takes the place of `{{name}}` in the template: Markdown in its
 * Markdown, Python in its code. Throws RangeError for a name without a value. */
export function notebookFile(
  path: string,
  template: string,
  values: Readonly<Record<string, string>>,
): OutFile {
  const filled = template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new RangeError(`${path}: no value for ${name}`)
    return value
  })
  const cells = cellsOf(filled).map(({ isMarkdown, text }, i) => {
    const common = { id: `cell-${i}`, metadata: {}, source: lines(text) }
    return isMarkdown
      ? { cell_type: 'markdown', ...common }
      : { cell_type: 'code', ...common, execution_count: null, outputs: [] }
  })
  const metadata = {
    kernelspec: { display_name: 'Python 3', language: 'python', name: 'python3' },
    language_info: { name: 'python' },
  }
  const notebook = { cells, metadata, nbformat: 4, nbformat_minor: 5 }
  return textFile(path, `${JSON.stringify(notebook, undefined, 1)}\n`)
}
