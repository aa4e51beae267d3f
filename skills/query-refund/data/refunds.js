/** The refunds of the sample shop, oldest first. The shop and its customers are made up. */
export const refunds = [
  {"refund_id":"R-4101","order_id":"71730","status":"paid","amount":25,"currency":"EUR","reason":"The customer sent everything back within 30 days.","requested_at":"2026-01-12T09:16:00Z","paid_at":"2026-01-14T09:16:00Z"},
  {"refund_id":"R-4102","order_id":"71731","status":"paid","amount":367.6,"currency":"EUR","reason":"The order was cancelled before it was shipped.","requested_at":"2026-01-11T00:30:00Z","paid_at":"2026-01-13T00:30:00Z"},
  {"refund_id":"R-4103","order_id":"71734","status":"paid","amount":78.8,"currency":"EUR","reason":"The customer sent everything back within 30 days.","requested_at":"2026-01-11T18:54:00Z","paid_at":"2026-01-13T18:54:00Z"},
  {"refund_id":"R-4104","order_id":"71735","status":"approved","amount":190.5,"currency":"EUR","reason":"The customer sent everything back within 30 days.","requested_at":"2026-01-16T07:52:00Z","paid_at":null},
  {"refund_id":"R-4105","order_id":"71752","status":"approved","amount":29.8,"currency":"EUR","reason":"The customer sent everything back within 30 days.","requested_at":"2026-01-22T21:13:00Z","paid_at":null},
  {"refund_id":"R-4106","order_id":"71759","status":"paid","amount":149.6,"currency":"EUR","reason":"The customer sent everything back within 30 days.","requested_at":"2026-01-29T06:09:00Z","paid_at":"2026-01-31T06:09:00Z"},
  {"refund_id":"R-4107","order_id":"71765","status":"paid","amount":103.5,"currency":"EUR","reason":"The customer sent everything back within 30 days.","requested_at":"2026-02-01T10:15:00Z","paid_at":"2026-02-03T10:15:00Z"},
  {"refund_id":"R-4108","order_id":"71768","status":"approved","amount":139.2,"currency":"EUR","reason":"The customer sent everything back within 30 days.","requested_at":"2026-02-01T12:47:00Z","paid_at":null},
  {"refund_id":"R-4109","order_id":"71778","status":"requested","amount":14.9,"currency":"EUR","reason":"The customer says that an article is missing.","requested_at":"2026-02-08T16:52:00Z","paid_at":null},
  {"refund_id":"R-4110","order_id":"71781","status":"paid","amount":12.5,"currency":"EUR","reason":"One of the two tea towels arrived stained.","requested_at":"2026-02-06T02:07:00Z","paid_at":"2026-02-08T02:07:00Z"},
  {"refund_id":"R-4111","order_id":"71786","status":"paid","amount":82.5,"currency":"EUR","reason":"The customer sent everything back within 30 days.","requested_at":"2026-02-11T16:30:00Z","paid_at":"2026-02-13T16:30:00Z"},
  {"refund_id":"R-4112","order_id":"71789","status":"paid","amount":89.7,"currency":"EUR","reason":"The customer sent everything back within 30 days.","requested_at":"2026-02-14T04:21:00Z","paid_at":"2026-02-16T04:21:00Z"},
]
