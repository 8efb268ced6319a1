// Reads fields of what may be a record.

/** A field of what may be an object. */
export const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined

/** The id of what may be a record; '' where it has none. */
export function idOf(value: unknown): string {
  const id = fieldOf(value, 'id')
  return typeof id === 'string' ? id : ''
}
