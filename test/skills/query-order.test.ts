import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataOf, startRunner, type RunnerUnderTest } from './runner-under-test.ts'

type Order = {
  readonly order_id: string
  readonly status: string
  readonly placed_at: string
  readonly customer: { readonly name: string }
  readonly amount?: number
  readonly total_amount?: number
  readonly items: readonly { readonly quantity: number; readonly unit_price: number }[]
}

let runner: RunnerUnderTest
beforeAll(async () => {
  runner = await startRunner()
})
afterAll(() => runner.close())

const versions = ['query-order@1.0.0', 'query-order@1.1.0', 'query-order@2.0.0']
const ordersOf = (data: Readonly<Record<string, unknown>>): readonly Order[] => data['orders'] as readonly Order[]

describe.each(versions)('%s', (version) => {
  it('finds order 71781 by its number, with or without a #', async () => {
    for (const order_id of ['71781', '#71781', ' 71781']) {
      const data = dataOf(await runner.call(version, { order_id }))
      expect([data['count'], ordersOf(data).map((order) => order.order_id)]).toEqual([1, ['71781']])
    }
  })

  it('says what the order costs under one name, and the sum is right', async () => {
    const [order] = ordersOf(dataOf(await runner.call(version, { order_id: '71739' })))
    const sum = order?.items.reduce((total, { quantity, unit_price }) => total + quantity * unit_price, 0)
    expect([order?.amount, order?.total_amount]).toEqual(version === 'query-order@2.0.0' ? [undefined, sum] : [sum, undefined])
  })

  it('refuses a number that nobody ordered under', async () => {
    expect(await runner.call(version, { order_id: '99999' })).toMatchObject({ kind: 'refusal', code: 'ORDER_NOT_FOUND', retryable: false })
  })

  it('takes no argument it does not know', async () => {
    await expect(runner.call(version, { order_id: '71781', order: '71781' })).rejects.toThrow('takes no')
  })
})

describe.each(versions.slice(1))('%s, with filters', (version) => {
  it('counts all orders and shows the five newest', async () => {
    const data = dataOf(await runner.call(version, {}))
    expect(data['count']).toBe(60)
    expect(ordersOf(data).map((order) => order.order_id)).toEqual(['71789', '71788', '71787', '71786', '71785'])
  })

  it('finds a customer by a part of the name without its accents, or by the whole address', async () => {
    const byName = dataOf(await runner.call(version, { customer: 'elodie', limit: 1 }))
    expect(ordersOf(byName).map(({ customer }) => customer.name)).toEqual(['Élodie Martin'])
    expect(dataOf(await runner.call(version, { customer: 'Elodie.Martin@example.org' }))['count']).toBe(byName['count'])
    expect(dataOf(await runner.call(version, { customer: 'example.org' }))['count']).toBe(0)
  })

  it('holds every filter against an order', async () => {
    const data = dataOf(await runner.call(version, { customer: 'weber', status: 'shipped' }))
    expect(data['count']).toBeGreaterThan(0)
    expect(ordersOf(data).filter(({ customer, status }) => status !== 'shipped' || !customer.name.includes('Weber'))).toEqual([])
    expect(dataOf(await runner.call(version, { order_id: '71781', status: 'cancelled' }))).toEqual({ count: 0, orders: [] })
  })
})

describe('query-refund', () => {
  it('tells an order without refunds from an order that does not exist', async () => {
    expect(dataOf(await runner.call('query-refund', { order_id: '71780' }))).toMatchObject({ count: 0, refunds: [] })
    expect(await runner.call('query-refund', { order_id: '1' })).toMatchObject({ kind: 'refusal', code: 'ORDER_NOT_FOUND' })
  })

  it('finds the refund of order 71781', async () => {
    expect(dataOf(await runner.call('query-refund', { order_id: '#71781' }))).toMatchObject({
      order_id: '71781',
      count: 1,
      refunds: [{ status: 'paid', amount: 12.5 }],
    })
  })

  it('gives back no more than the order cost', async () => {
    for (const order_id of ['71731', '71752', '71778', '71781']) {
      const [order] = ordersOf(dataOf(await runner.call('query-order@2.0.0', { order_id })))
      const { refunds } = dataOf(await runner.call('query-refund', { order_id })) as { refunds: readonly { amount: number }[] }
      expect(refunds.reduce((total, { amount }) => total + amount, 0)).toBeLessThanOrEqual(order?.total_amount ?? 0)
    }
  })
})
