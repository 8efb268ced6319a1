// Says why the settings did not take an edit, in the names of the form.
import { experimentFields } from '../../../document/experiment/form/form.ts'
import { labStore } from '../../../page/state/store.ts'
import { labelled } from './labelled.ts'

interface Issue {
  readonly path: string
  readonly message: string
}

/** A sentence begins with a capital, a name as it is written. */
const begun = (said: string): string => said.replace(/^[a-z](?=[a-z]* )/, (c) => c.toUpperCase())

export const refusedWords = (problem: string): string =>
  begun(labelled(problem, experimentFields(labStore.getState().experiment)))

/** What is wrong with a document, each in a sentence. */
export const issuesWords = (issues: readonly Issue[]): string[] =>
  issues.map(({ path, message }) => refusedWords(path ? `${path}: ${message}` : message))
