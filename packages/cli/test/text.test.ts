import { describe, expect, it } from 'vitest'
import { safeBlock, safeJson, safeLine } from '../src/safe-text.ts'
import { layoutPairs, layoutTable } from '../src/table.ts'
import { cutText, displayWidth, wrapText } from '../src/text-width.ts'

describe('text from elsewhere', () => {
  it.each([
    ['\u001b[31mred\u001b[0m', String.raw`\x1b[31mred\x1b[0m`],
    ['a\u009b2Jb', String.raw`a\x9b2Jb`],
    ['in\u202evisible\u2066', String.raw`in\u{202e}visible\u{2066}`],
    ['tag\u{e0041}', String.raw`tag\u{e0041}`],
    ['two\r\nlines\tand  more ', 'two lines and more'],
    ['Grüße 你好 👩‍🚀', 'Grüße 你好 👩‍🚀'],
  ])('on one line steers no terminal: %j', (text, shown) => {
    expect(safeLine(text)).toBe(shown)
  })
  it('keeps its lines and tabs as a block, and nothing else that is not printed', () => {
    expect(safeBlock('# Title\r\n\n\tcode\u0007\rover')).toBe('# Title\n\n\tcode\\x07\\x0dover')
  })
  it('as JSON reads back as the same value', () => {
    const value = { 'a\u009b': ['\u001b]0;x\u0007', '\u202e', '\u{e0041}', 'plain\n'], n: null }
    const text = safeJson(value)
    expect(JSON.parse(text)).toEqual(value)
    expect(text.replaceAll('\n', '')).toMatch(/^[\x20-\x7e]+$/)
  })
})

describe('the width of a text', () => {
  it.each([
    ['plain', 5],
    ['你好', 4],
    ['e\u0301', 1],
    ['🚀', 2],
  ])('%j takes %i columns', (text, columns) => {
    expect(displayWidth(text)).toBe(columns)
  })
  it('is kept when a text is cut or wrapped', () => {
    expect([cutText('abcdef', 4), cutText('你好你好', 5), cutText('abc', 3)]).toEqual(['abc…', '你好…', 'abc'])
    expect(wrapText('one two three averyveryverylongword four', 10)).toEqual(['one two', 'three', 'averyveryverylongword', 'four'])
  })
})

describe('a table', () => {
  const content = {
    head: ['NAME', 'STATE', 'TEXT'],
    rows: [
      ['a', 'released', 'short'],
      ['longer-name', '', 'a text of many words that does not fit everywhere'],
    ],
  }
  it('is as wide as it is where nobody looks on', () => {
    expect(layoutTable(content)).toBe(
      'NAME         STATE     TEXT\na            released  short\nlonger-name            a text of many words that does not fit everywhere\n',
    )
  })
  it('cuts or wraps its last column on a terminal', () => {
    expect(layoutTable(content, 50).split('\n')[2]).toBe('longer-name            a text of many words that …')
    expect(layoutTable({ ...content, overflow: 'wrap' }, 50)).toBe(
      'NAME         STATE     TEXT\na            released  short\nlonger-name            a text of many words that\n                       does not fit everywhere\n',
    )
  })
  it('becomes labels, or two lines a row, where there is no room', () => {
    expect(layoutTable(content, 30)).toBe(
      'NAME   a\nSTATE  released\nTEXT   short\n\nNAME  longer-name\nTEXT  a text of many words that does not fit everywhere\n',
    )
    expect(layoutTable({ ...content, narrow: 'lines' }, 30)).toBe('a  released\n    short\nlonger-name\n    a text of many words that…\n')
  })
  it('aligns wide characters and lets nothing steer the terminal', () => {
    expect(layoutTable({ head: ['A', 'B'], rows: [['你好', 'x\u001b[1m\ny']] })).toBe('A     B\n你好  x\\x1b[1m y\n')
  })
  it('of pairs leaves out what has no value', () => {
    expect(
      layoutPairs([
        ['name', 'a'],
        ['nothing', undefined],
        ['empty', ''],
        ['longest', 'b\nc'],
      ]),
    ).toBe('name     a\nlongest  b c\n')
  })
})
