// Says at once what was asked of a run and could not be done: the button that asked may be out of
// sight.
import { steeringWords } from '../../document/experiment/steering/words.ts'
import { onLabEvent } from '../../page/connection/connection.ts'
import { showToast } from '../shown/store.ts'

/** Tells of every refusal in a toast. To be called once per page; returns how to stop. */
export const followRefusals = (): (() => void) =>
  onLabEvent((event) => {
    if (event.type === 'steered' && event.refused !== undefined)
      showToast(`Not done: ${steeringWords(event.entry)}. ${event.refused}`)
  })
