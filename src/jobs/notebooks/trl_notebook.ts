// Writes train_trl.ipynb of a job: a notebook that installs TRL, runs the job's train_trl.py, and
// draws what it logged.
import type { OutFile } from '../../formats/out_file.ts'
import { markdownText, type Say } from '../../formats/text_tables.ts'
import { notebookFile } from './notebook.ts'
import template from './templates/trl.py?raw'

interface Facts {
  readonly title: string
  /** The name of TRL's trainer. */
  readonly trainer: string
  /** Those that the job takes. */
  readonly steps: number
}

export function trlNotebook({ title, trainer, steps }: Facts, say: Say): OutFile {
  const trains = `Trains the model of this job with TRL's ${trainer}, as \`python3 train_trl.py\` does: ${steps} steps. A CPU will do.`
  const jupyter = 'Open this file in the folder of the job.'
  const colab =
    'Open this file, run its cells from the top, and give the first one the job’s .zip (a folder that the command line wrote is zipped first).'
  const missing = '`README.md` of the job says what of the experiment is not in it.'
  const ends =
    'The trained model is in `trained/`: `AutoModelForCausalLM.from_pretrained("trained")` loads it. Understory reads that folder, and `trained/trl_log.json` becomes a run beside your own there: drop it onto the page.'
  return notebookFile('train_trl.ipynb', template, {
    title: markdownText(say(title)),
    trains: say(trains),
    jupyter: say(jupyter),
    colab: say(colab),
    missing: say(missing),
    ends: say(ends),
  })
}
