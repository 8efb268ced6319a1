// Loads and continues a study that was being trained when the page was left. Small, because
// every page loads this.
import { wasTraining } from './mark_training.ts'

export function continueStudy(): void {
  if (wasTraining()) void import('./study_store.ts').then(({ openStudy }) => openStudy())
}
