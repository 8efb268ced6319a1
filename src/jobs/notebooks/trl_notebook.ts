// Writes train_trl.ipynb of a job: a notebook that installs TRL, runs the job's train_trl.py, and
// draws what it logged.
import type { OutFile } from '../../formats/out_file.ts'
import { markdownText } from '../../formats/text_tables.ts'
import { notebookFile } from './notebook.ts'
import template from './templates/trl.py?raw'

/** `trainer`: the name of TRL's trainer; `steps`: those that the job takes. */
export const trlNotebook = (title: string, trainer: string, steps: number): OutFile =>
  notebookFile('train_trl.ipynb', template, {
    title: markdownText(title),
    trainer,
    steps: `${steps}`,
  })
