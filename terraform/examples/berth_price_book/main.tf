# Micro-units: 40000 are 0.04 EUR.
resource "berth_price_book" "example" {
  name     = "eur"
  currency = "EUR"
  prices = [
    {
      effective_from = "2026-01-01T00:00:00+01:00"
      rates          = { cpu_core = 40000, memory_gib = 5000 }
      tiers          = { premium = { cpu_core = 50000, memory_gib = 6000 } }
      each           = { task = 20 }
    },
    {
      effective_from = "2037-01-01T00:00:00+01:00"
      rates          = { cpu_core = 44000, memory_gib = 5500 }
      each           = { task = 20 }
      discounts = {
        tolerance        = [{ at_least_s = 3600, percent = 20 }, { at_least_s = 86400, percent = 40 }]
        flexible_percent = 30
      }
      volume = [{ above = 1000000000, percent = 10 }]
    },
  ]
}
