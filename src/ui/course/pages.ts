// Names what the panel of the lessons can show beside a lesson; they stand in the address.

export const HAND_IN = 'hand-in'
export const CHECK_CODE = 'check-code'
export const MAKE_COURSE = 'make-course'

const ITEM = /^item-(\d{1,2})$/

/** An item of the open course that is no lesson. */
export const itemPage = (index: number): string => `item-${index}`

/** The index of such a page's item; undefined for another page. */
export const itemOfPage = (page: string): number | undefined => {
  const index = ITEM.exec(page)?.[1]
  return index === undefined ? undefined : Number(index)
}
