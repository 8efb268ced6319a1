// Says why an experiment cannot leave as a job.

/** The message is all there is to say: it names the setting, what was found, and a way out where
 * there is one. */
export class JobError extends Error {
  override name = 'JobError'
}
