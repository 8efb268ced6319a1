// verl's file logger: JSON lines of {"step": 1, "data": {metric: value}}. The lab's own metrics.jsonl is the same, and an imported run
// may have answers to held-out prompts too.
import { generationOf, isGeneration } from './generations_log.ts'
import { type ImportedLog, isStep, LogRows } from './imported_log.ts'
import { isRecord, linesOf, numberOf, type Pieces, parsePython } from './lines.ts'
import { isHead } from './run_file.ts'

/** Throws LogError where no line is one of verl's. */
export async function readVerlLog(pieces: Pieces): Promise<ImportedLog> {
  const rows = new LogRows()
  let is_first = true
  for await (const { text, number, is_last } of linesOf(pieces)) {
    const line = parsePython(text)
    if (isRecord(line) && isStep(line.step) && isRecord(line.data)) {
      for (const [name, value] of Object.entries(line.data)) {
        const found = numberOf(value)
        if (found !== undefined) rows.put(name, line.step, found)
      }
    } else if (isGeneration(line) && isStep(line.step) && typeof line.score === 'number') {
      rows.keep(line.step, generationOf(line, line.score))
    } else if (is_first && isHead(line)) rows.tell(line.kind, line.remarks)
    else if (is_last && line === undefined) rows.cut()
    else rows.skip(`line ${number}`)
    is_first = false
  }
  return rows.finish('verl')
}
