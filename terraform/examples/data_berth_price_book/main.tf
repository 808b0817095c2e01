resource "berth_price_book" "machines" {
  name     = "machines"
  currency = "EUR"
  prices   = [{ effective_from = "2026-01-01T00:00:00Z", rates = { cpu_core = 12000 } }]
}

data "berth_price_book" "machines" {
  name       = "machines"
  depends_on = [berth_price_book.machines]
}

output "cpu_core" {
  value = data.berth_price_book.machines.prices[0].rates.cpu_core
}
