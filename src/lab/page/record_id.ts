/** The id that a run is kept under: 24 hexadecimal digits, different each time. */
export const newRecordId = (): string =>
  [...crypto.getRandomValues(new Uint8Array(12))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
