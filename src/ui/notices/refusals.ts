// What was asked of a run and could not be done is said at once: the button that asked has long been left.
import { steeringWords } from '../../document/experiment/steering/words.ts'
import { onLabEvent } from '../../page/connection/connection.ts'
import { showToast } from '../shown/store.ts'

/** Tells of every refusal in a toast. To be called once per page; returns how to stop. */
export const followRefusals = (): (() => void) =>
  onLabEvent((event) => {
    if (event.type === 'steered' && event.refused !== undefined)
      showToast(`Not done: ${steeringWords(event.entry)}. ${event.refused}`)
  })
