// What the page and the command line say of logs, without the readers.

/** What can be imported, for a sentence. */
export const CAN_IMPORT =
  'Logs can be imported: metrics.jsonl of verl or of the lab, trainer_state.json of TRL, event files of TensorBoard, and the folder of verl’s validation generations.'
