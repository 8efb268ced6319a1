// Leads from an opened model to the settings that train it or learn from it, and to the rows that
// it can read.
import { openedModelStore, trainFrom } from '../../../page/opened/opened_model.ts'
import { labStore } from '../../../page/state/store.ts'
import { openData, openedDataStore } from '../../data/open_data.ts'
import { closeDialog } from '../../open/dialogs.ts'
import { closePast } from '../../open/opened_run.ts'
import { showToast } from '../../shown/store.ts'

/** Keeps the first model, and puts it into the settings; with an adapter to train, or with all of
 * its weights. */
export const trainOpened = (hasAdapter: boolean): void =>
  trainFrom(hasAdapter, async (start) => {
    const { startFrom } = await import('../../../page/opened/start_from.ts')
    const started = await startFrom(start)
    if (!started.ok) return openedModelStore.setState({ problem: started.why })
    closePast()
    closeDialog('model')
    openedDataStore.setState({ own: { model: start.hash, files: started.tokenizer } })
    const checkpointed =
      start.fields.enable_gradient_checkpointing === true ? ', with gradient checkpointing' : ''
    const rows = started.needsRows ? ' Choose the rows that it shall train on.' : ''
    showToast(
      `The next run begins with ${start.name}${checkpointed}.${rows} Undo brings the settings back.`,
    )
    if (started.needsRows) openData()
  })

/** Keeps the first model, and makes it the teacher of the next run. */
export const learnFromOpened = (): void =>
  trainFrom(false, async (start) => {
    const { learnFrom } = await import('../../../page/opened/start_from.ts')
    const why = await learnFrom(start)
    if (why !== undefined) return openedModelStore.setState({ problem: why })
    closePast()
    closeDialog('model')
    const { phases } = labStore.getState().experiment
    const next = phases.some(({ kind }) => kind === 'distill')
      ? ''
      : ' Add a phase of distillation, and choose “another model” as its teacher.'
    showToast(`The next run can learn from ${start.name}.${next} Undo brings the settings back.`)
  })
