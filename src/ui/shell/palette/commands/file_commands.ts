// Lists the commands that bring in or take out a link or a file.
import { openData } from '../../../data/open_data.ts'
import { chooseFile, saveExperiment, saveMetrics } from '../../../open/files.ts'
import { openExport } from '../../../open/open_export.ts'
import { type Command, hasSteps } from './command.ts'

export const FILE_COMMANDS: readonly Command[] = [
  {
    id: 'copy-link',
    group: 'Files',
    name: () => 'Copy link',
    also: 'share url',
    run: async () => (await import('../../../share/choice_link.ts')).copyLink(),
  },
  {
    id: 'open-file',
    group: 'Files',
    name: () => 'Open file…',
    also: 'load import experiment json',
    run: () => chooseFile(),
  },
  {
    id: 'open-folder',
    group: 'Files',
    name: () => 'Open folder…',
    also: 'load import log verl validation generations model hugging face adapter',
    run: () => chooseFile(true),
  },
  {
    id: 'open-model',
    group: 'Files',
    name: () => 'Open a model …',
    also: 'hugging face hub address url chat look inside smollm qwen download',
    // Only some visitors bring models.
    run: () =>
      void import('../../../tokens/model/model_files.ts').then(({ openModels }) => openModels()),
  },
  {
    id: 'open-data',
    group: 'Files',
    name: () => 'Train on your own data …',
    also: 'dataset jsonl csv parquet text rows problems upload',
    run: () => openData(),
  },
  {
    id: 'save-experiment',
    group: 'Files',
    name: () => 'Save experiment as JSON',
    also: 'download export',
    run: saveExperiment,
  },
  {
    id: 'export',
    group: 'Files',
    name: () => 'Export a model or a job …',
    also: 'verl bupo trl hugging face transformers download scale up cluster',
    run: () => openExport(),
  },
  {
    id: 'save-csv',
    group: 'Files',
    name: () => 'Download metrics as CSV',
    also: 'export save table',
    can: hasSteps,
    run: () => void saveMetrics('csv'),
  },
  {
    id: 'save-jsonl',
    group: 'Files',
    name: () => 'Download metrics as JSON lines',
    also: 'export save jsonl',
    can: hasSteps,
    run: () => void saveMetrics('jsonl'),
  },
]
