// Holds what a new reward program begins with in each language, and what is said of it.
import type { ProgramStarts } from './Program.tsx'

const APART =
  'It runs apart from this page: without network, storage or GPU, and with a time limit.'

export const REWARD_STARTS: ProgramStarts = {
  js: {
    help: APART,
    text: `function compute_score(data_source, solution_str, ground_truth, extra_info) {
  return solution_str === ground_truth ? 1 : 0
}
`,
  },
  py: {
    help: `${APART} The file has a function as verl, TRL or OpenRLHF call it.`,
    text: `def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kwargs):
    return 1.0 if solution_str == ground_truth else 0.0
`,
  },
}
