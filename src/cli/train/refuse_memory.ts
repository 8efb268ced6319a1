// Refuses runs of the command line that take more GPU memory than they may.
import { totalmem } from 'node:os'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { MemoryRefusal, memoryBudget, requireMemory } from '../../host/worker/base/memory_budget.ts'
import { planMemory } from '../../rl/train/parts/memory.ts'
import { LabFailure } from '../base/command.ts'

/** Throws LabFailure for what would take more memory than may be taken, before a device is
 * opened. */
export function refuseMemory(document: Experiment, allowBytes: number | undefined): void {
  const allowed = allowBytes ?? memoryBudget(totalmem() / 2 ** 30)
  try {
    requireMemory(document, allowed, (config) => planMemory(config).total())
  } catch (error) {
    if (!(error instanceof MemoryRefusal)) throw error
    const gibibytes = Math.ceil((100 * error.bytes) / 2 ** 30) / 100
    throw new LabFailure(
      `${error.message}\nIf this machine has so much to spare: --allow-memory ${gibibytes}`,
    )
  }
}
