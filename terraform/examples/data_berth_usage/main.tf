data "berth_usage" "january" {
  from = "2027-01-01"
  to   = "2027-01-31"
}

output "run_ms" {
  value = data.berth_usage.january.total.run_ms
}
