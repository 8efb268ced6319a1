import { expect, test } from 'vitest'
import { writeText } from './live_text.ts'

test('a text changes in its node, and becomes the only one where others were', () => {
  const node = { nodeType: 3, nodeValue: '1' }
  const childNodes: unknown[] = [node]
  const element = {
    childNodes,
    get firstChild() {
      return childNodes[0] ?? null
    },
    set textContent(nodeValue: string) {
      childNodes.splice(0, childNodes.length, { nodeType: 3, nodeValue })
    },
  }
  writeText(element as unknown as Element, '2')
  expect(childNodes).toEqual([{ nodeType: 3, nodeValue: '2' }])
  expect(childNodes[0]).toBe(node)
  childNodes.push({ nodeType: 1 })
  writeText(element as unknown as Element, '3')
  expect(childNodes).toEqual([{ nodeType: 3, nodeValue: '3' }])
})
